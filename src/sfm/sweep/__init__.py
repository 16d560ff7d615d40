"""Many runs from one plan, on one machine or a cluster."""
