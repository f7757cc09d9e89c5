/** Kills this process with SIGKILL at the nth request that it sends, or answer that it gets: KILL_AT counts both. */
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env.KILL_AT);
let moments = 0;
const { request } = http;

function moment() {
  moments += 1;
  if (moments === at) process.kill(process.pid, 'SIGKILL');
}

http.request = (...given) => {
  moment();
  const sent = request(...given);
  sent.once('response', (response) => response.once('end', moment));
  return sent;
};
syncBuiltinESMExports();
