/** Writes text to where results go; settled once it has gone there. */
export type Write = (text: string) => Promise<void>;

/**
 * Writes to a stream of this process. Where its reader has gone, as `head` does once it has enough, there is nobody
 * left to work for: the process ends, and well.
 */
export function writeTo(stream: NodeJS.WriteStream): Write {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') process.exit(0);
    throw error;
  });
  return (text) =>
    new Promise((resolve) => {
      stream.write(text, () => resolve());
    });
}
