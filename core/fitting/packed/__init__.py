"""Active items of many positions, packed once for fast passes: what both kinds of fit work on."""
