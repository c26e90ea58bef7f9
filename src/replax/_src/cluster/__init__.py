"""Who this process is, who else runs, and how they talk before there are devices."""
