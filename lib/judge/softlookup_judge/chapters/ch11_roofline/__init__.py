"""Chapter 11, arithmetic intensity and the roofline."""
