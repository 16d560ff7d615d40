"""Tasks of dm_control's suite, ours among them, stepped on bare MuJoCo where we know the task."""
