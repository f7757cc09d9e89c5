import { existsSync, readFileSync } from 'node:fs';
import { DeleteQueueCommand, QueueDoesNotExist, SQSClient } from '@aws-sdk/client-sqs';
import { awsAccount, awsLogin } from '../login/aws-login.ts';
import { queueCounts } from '../event-sources/queue-of-source.ts';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';

interface FormerQueues {
  /** Remembers the names of the queues that the stack may have made. */
  readonly file: string;
  /** Of every queue of the template. */
  readonly urls: readonly string[];
  readonly sqsUrl: string;
  /** Told of each queue that goes, and of what was in it. */
  readonly log: (line: string) => void;
}

/** To be done before queues are made: what is made for a template that is not taken is deleted with the next one. */
export function rememberQueues({ file, urls }: Pick<FormerQueues, 'file' | 'urls'>): void {
  const former = rememberedIn(file);
  const more = urls.map(nameOf).filter((name) => !former.includes(name));
  if (more.length > 0) writeFileAtomically(file, JSON.stringify([...former, ...more]));
}

function rememberedIn(file: string): readonly string[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly string[]) : [];
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/**
 * Deletes the queues that the last template had and this one has not, as a deployment does when all the rest of it has
 * succeeded. Their triggers are not listed any more by then, and begin at their `start` where they are defined again:
 * what was queued is nothing that they would miss. Queues that the stack did not make are left alone.
 */
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
    // Somebody else was faster, or SQS keeps nothing.
    if (!(error instanceof QueueDoesNotExist)) throw error;
  }
}
