"""Random small faults in the product, to see whether its tests notice them."""
