import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { LocalStackOptions } from '../../infra/local/stack/local-stack-options.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';

export function toldOptions<Options extends object = Partial<LocalStackOptions>>(): Options {
  return JSON.parse(process.argv[2] ?? '{}') as Options;
}

/** Runs a stack until SIGTERM. Reports that it is ready after its preparation. */
export async function serveStack(
  options: Partial<LocalStackOptions>,
  prepare: (stack: LocalStack) => void = () => undefined,
): Promise<void> {
  const starting = startLocalStack(options);
  process.on('SIGTERM', () => {
    void starting.then((stack) => stack.stop()).finally(() => process.exit(0));
  });
  const stack = await starting;
  prepare(stack);
  console.log(`ready ${stack.url}`);
}
