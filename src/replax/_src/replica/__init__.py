"""Where the running code is: scopes, replica contexts and collectives."""
