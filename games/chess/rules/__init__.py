"""The rules of chess on bitboards, and what the search asks of them."""
