"""Files as glem reads and writes them: whole, checked, within bounds."""
