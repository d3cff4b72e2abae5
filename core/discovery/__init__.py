"""Mining, fitting and measuring as one job."""
