throw new Error('no table of fares');
