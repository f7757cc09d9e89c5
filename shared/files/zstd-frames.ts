import { once } from 'node:events';
import { Duplex } from 'node:stream';
import type { ZstdDecompress } from 'node:zlib';

/** Decompresses consecutive zstd frames, as pzstd writes them; Node's own stream drops all but the first. */
export function zstdFrames(open: () => ZstdDecompress): Duplex {
  return Duplex.from(async function* frames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let frame: ZstdDecompress | undefined;
    try {
      for await (const piece of source) {
        for (let left = piece; left.length > 0;) {
          frame ??= open();
          const before = frame.bytesWritten;
          yield* outputOf(frame, (done) => frame?.write(left, done));
          left = left.subarray(frame.bytesWritten - before);
          // With something left it has come to the end of its frame.
          if (left.length > 0) frame = undefined;
        }
      }
      // A frame that was cut is an error now.
      if (frame) yield* outputOf(frame, () => frame?.end());
    } finally {
      frame?.destroy();
    }
  });
}

/** What comes until some work is done, or the frame has ended, no faster than it is taken. */
async function* outputOf(
  frame: ZstdDecompress,
  work: (done: (error?: Error | null) => void) => void,
): AsyncGenerator<Buffer> {
  let isDone = false;
  let failed: Error | undefined;
  const changed = new EventTarget();
  const ring = (): void => void changed.dispatchEvent(new Event('change'));
  const fail = (error: Error): void => {
    failed = error;
    ring();
  };
  frame.on('readable', ring).on('end', ring).on('error', fail);
  work((error) => {
    failed ??= error ?? undefined;
    isDone = true;
    ring();
  });
  try {
    for (;;) {
      const piece = frame.read() as Buffer | null;
      if (failed) throw failed;
      if (piece) yield piece;
      else if (isDone || frame.readableEnded) return;
      else await once(changed, 'change');
    }
  } finally {
    frame.off('readable', ring).off('end', ring).off('error', fail);
  }
}
