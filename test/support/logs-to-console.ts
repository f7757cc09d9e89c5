/**
 * Sends the product's log to the console of the tests, which shows it with a test that fails: functions write to the
 * process's own streams, past any console.
 */
for (const stream of [process.stdout, process.stderr])
  stream.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    console.log(String(chunk).trimEnd());
    const written = rest.at(-1);
    if (typeof written === 'function') written();
    return true;
  };
