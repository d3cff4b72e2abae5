"""Experiments on what grades tell: whether they rise with processing power, and with playing strength (Ban 2012)."""
