/** What `npm start` runs, with servers that do not write acknowledged commits to the disk: a control. */
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';
import { UNSAFE_FLUSHING } from '../../support/cluster.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as Partial<LocalStackOptions>;
const starting = startLocalStack({ ...options, serverArguments: UNSAFE_FLUSHING });
process.on('SIGTERM', () => {
  void starting.then((stack) => stack.stop()).finally(() => process.exit(0));
});
const stack = await starting;
console.log(`ready ${stack.url}`);
