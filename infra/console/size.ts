import { packPage } from './pack-page.ts';

const MOST_BYTES = 100_000;

const sizes = Object.entries(packPage().files).map(([path, { text, gzip }]) => ({
  path,
  bytes: Buffer.byteLength(text),
  sent: Buffer.byteLength(gzip, 'base64'),
}));
const sent = sizes.reduce((sum, one) => sum + one.sent, 0);
const lines = [
  ...sizes.toSorted((one, other) => other.sent - one.sent),
  { path: 'all', bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0), sent },
];
for (const { path, bytes, sent: compressed } of lines)
  process.stdout.write(
    `${path.padEnd(28)} ${String(bytes).padStart(8)} bytes, ${String(compressed).padStart(7)} compressed\n`,
  );
if (sent > MOST_BYTES) {
  process.stderr.write(`the console: wanted at most ${MOST_BYTES} bytes compressed, got ${sent}\n`);
  process.exitCode = 1;
}
