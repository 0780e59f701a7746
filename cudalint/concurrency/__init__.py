"""Order between the threads of a launch: barrier intervals, barriers that some threads miss, races."""
