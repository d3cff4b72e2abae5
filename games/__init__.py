"""Rules, notations and file formats of each game; knows no learning."""
