/** Writes text to where results go; settled once it has gone there. */
export type Write = (text: string) => Promise<void>;

/** Writes to a stream of this process, and exits with 0 once its reader has gone, as after `head`. */
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
