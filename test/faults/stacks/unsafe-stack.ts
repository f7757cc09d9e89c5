/** Runs `npm start` with servers that do not write acknowledged commits to the disk: a control. */
import { UNSAFE_FLUSHING } from '../../support/cluster.ts';
import { serveStack, toldOptions } from '../serve-stack.ts';

await serveStack({ ...toldOptions(), serverArguments: UNSAFE_FLUSHING });
