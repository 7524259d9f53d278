"""Pure arithmetic over counts and outcomes (DESIGN 4): integers and fractions in, exact values and words out."""
