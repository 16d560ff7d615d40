"""What runs have shown: as a table, as figures, and as one page. Reads run folders, imports no JAX."""
