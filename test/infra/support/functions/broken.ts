/** Stands in for a trigger's function whose module throws while it is loaded. */
throw new Error('no table of fares');
