import type { Json } from '../cell.ts';
import type { ForgottenSubject, SubjectOperations } from '../contract/subject-operations.ts';
import { toItems } from './answers.ts';
import { answerTo } from './calls.ts';
import { connect } from './connection.ts';
import type { ClientOptions } from './options.ts';

/**
 * Forgets subjects of a datastore over HTTP, as `erasuresClient` erases its cells.
 *
 * ```ts
 * const subjects = subjectsClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await subjects.forget({ subject: rider_uuid, reason: 'request 4711' });
 * ```
 */
export function subjectsClient(options: ClientOptions): SubjectOperations {
  const send = connect(options);
  return {
    forget: (request) => answerTo(send, { method: 'POST', path: ['subjects', 'forget'], body: { ...request } }),
    async forgotten({ limit, after } = {}) {
      const { json } = await send({ method: 'GET', path: ['erasures', 'subjects'], query: { limit, after } });
      return { subjects: toItems<ForgottenSubject>(json['subjects'] as Json), next: json['next'] as string | null };
    },
  };
}
