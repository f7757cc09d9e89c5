import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { functionResult, type FunctionResult } from './function-result.ts';
import { inOneTurn, READY, TIDY, type AnswerMessage, type CallMessage, type RunnerStart } from './messages.ts';

type Handler = (event: unknown, context: object) => unknown;

const start: RunnerStart = parentPort ? workerData : JSON.parse(process.argv[2] ?? '{}');
/** Characters from which a body moves as bytes instead of a copy. */
const LARGE = 16_384;
const answer = inOneTurn((messages: (AnswerMessage | typeof READY)[]) =>
  parentPort ? parentPort.postMessage(messages, messages.flatMap(handedOver)) : process.send?.(messages),
);
const handler = loadHandler();
// A bundle that cannot be loaded fails each call, not the runner.
handler.then(
  () => answer(READY),
  () => answer(READY),
);

if (parentPort) parentPort.on('message', callAll);
else {
  process.on('message', callAll);
  // The stack has ended.
  process.on('disconnect', () => process.exit());
  // Ctrl-C reaches every process of the terminal; the stack ends this one after its calls.
  process.on('SIGINT', () => {});
}

async function loadHandler(): Promise<Handler> {
  const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(start.module).href);
  const found = module[start.exportName];
  if (typeof found !== 'function')
    throw new Error(`${start.module}: wanted an exported function ${start.exportName}, got ${typeof found}`);
  return (event, context) => found(event, context);
}

function callAll(messages: unknown): void {
  if (messages === TIDY) return collectGarbage();
  for (const message of messages as readonly CallMessage[]) void call(message);
}

let collect: (() => void) | undefined;

function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

async function call({ id, event, requestId, timeoutMs }: CallMessage): Promise<void> {
  try {
    const result = await (await handler)(JSON.parse(event), contextOf(requestId, Date.now() + timeoutMs));
    answer({ id, result: inBytes(functionResult(result)) });
  } catch (error) {
    const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    console.error(requestId, stack);
    answer({ id, error: { name, message, stack } });
  }
}

/** Between threads, large and binary bodies travel as bytes; between processes text is faster. */
function inBytes(result: ReturnType<typeof functionResult>): FunctionResult {
  if (!parentPort || result.body === undefined) return result;
  if (result.isBase64) return { text: result.text, body: fromBase64(result.body), decoded: true };
  if (result.body.length < LARGE) return result;
  return { ...result, body: new TextEncoder().encode(result.body) };
}

/** Separate memory, since it is transferred whole. */
function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, 'base64'));
  return bytes.subarray(0, bytes.write(text, 'base64'));
}

function handedOver(message: AnswerMessage | typeof READY): ArrayBuffer[] {
  const body = message === READY || message.error !== undefined ? undefined : message.result.body;
  return body instanceof Uint8Array && body.buffer instanceof ArrayBuffer ? [body.buffer] : [];
}

function contextOf(awsRequestId: string, deadline: number): object {
  return {
    awsRequestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: start.name,
    functionVersion: '$LATEST',
    invokedFunctionArn: start.arn,
    memoryLimitInMB: String(start.memoryMb),
    logGroupName: `/aws/lambda/${start.name}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}
