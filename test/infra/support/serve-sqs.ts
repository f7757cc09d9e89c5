/** Serves SQS from a folder, says where, and waits to be killed. */
import { startService } from '../../../infra/local/emulators/start-service.ts';

const { url } = await startService('sqs', process.argv[2] ?? '');
process.stdout.write(url);
