import { existsSync, readFileSync } from 'node:fs';
import { DeleteQueueCommand, QueueDoesNotExist, SQSClient } from '@aws-sdk/client-sqs';
import { awsAccount, awsLogin } from '../login/aws-login.ts';
import { queueCounts } from '../event-sources/queue-of-source.ts';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';

interface FormerQueues {
  readonly file: string;
  readonly urls: readonly string[];
  readonly sqsUrl: string;
  readonly log: (line: string) => void;
}

/** Call it before queues are made: the next template deletes those of a template that failed. */
export function rememberQueues({ file, urls }: Pick<FormerQueues, 'file' | 'urls'>): void {
  const former = rememberedIn(file);
  const more = urls.map(nameOf).filter((name) => !former.includes(name));
  if (more.length > 0) writeFileAtomically(file, JSON.stringify([...former, ...more]));
}

function rememberedIn(file: string): readonly string[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly string[]) : [];
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/** Deletes queues that the template no longer has, last. A trigger defined again begins at its `start`. */
export async function deleteFormerQueues({ file, urls, sqsUrl, log }: FormerQueues): Promise<void> {
  const names = urls.map(nameOf);
  const gone = rememberedIn(file)
    .filter((name) => !names.includes(name))
    .sort();
  if (gone.length === 0) return;
  const client = new SQSClient({ endpoint: sqsUrl, ...awsLogin() });
  try {
    for (const name of gone)
      await deleteQueue(client, `${sqsUrl}/${awsAccount()}/${name}`, (messages) =>
        log(`deleted the queue ${name}, which is not defined any more${messages}`),
      );
  } finally {
    client.destroy();
  }
  writeFileAtomically(file, JSON.stringify(names));
}

async function deleteQueue(client: SQSClient, url: string, deleted: (messages: string) => void): Promise<void> {
  try {
    const { visible, held } = await queueCounts(client, url);
    const messages = visible + held;
    await client.send(new DeleteQueueCommand({ QueueUrl: url }));
    deleted(messages === 0 ? '' : `, with ${messages} ${messages === 1 ? 'message' : 'messages'}`);
  } catch (error) {
    // Deleted already.
    if (!(error instanceof QueueDoesNotExist)) throw error;
  }
}
