"""Players' styles: weights that make the moves likely that somebody chose."""
