import type { Operation } from '../../shared/api/operation.ts';
import { logger, requestIds } from '../environment/log.ts';
import type { Answer } from './answer.ts';
import type { Answers } from './answering.ts';

/** Logs the caller before each answer, and these members of some answers. `message`: the message of the log lines. */
export function audited<Some extends Readonly<Record<string, Operation>>, Over>(
  message: string,
  answers: Answers<Some, Over>,
  told: { readonly [Name in keyof Some]?: readonly string[] },
): Answers<Some, Over> {
  const entries = Object.entries(answers).map(([operation, answering]) => {
    const answer = answering as Answers<Readonly<Record<string, Operation>>, Over>[string];
    const logged: typeof answer = async (parameters, request, over): Promise<Answer> => {
      const about = { ...requestIds(), operation, caller: request.caller };
      logger.info(message, about);
      const given = await answer(parameters, request, over);
      const body = given.body as Readonly<Record<string, unknown>>;
      const members = told[operation]?.map((name) => [name, body[name]] as const);
      if (members) logger.info(message, { ...about, ...Object.fromEntries(members) });
      return given;
    };
    return [operation, logged];
  });
  return Object.fromEntries(entries) as Answers<Some, Over>;
}
