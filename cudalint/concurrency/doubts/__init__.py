"""Why a race may be none: what it depends on, one module for each kind of reason."""
