import { expect, it } from 'vitest';
import { openOnOnePort } from '../../../../infra/local/mysql/forwarders-apart.ts';

it('an address that the system lacks is told with the command that adds it', async () => {
  // Reserved for documents, so that no machine has them: what 127.9.8.1 is to macOS.
  const hosts = ['192.0.2.1', '192.0.2.2'];
  const opening = openOnOnePort(
    hosts.map((host) => ({ host, target: () => undefined })),
    0,
  );
  await expect(opening).rejects.toThrow('for host in 192.0.2.1 192.0.2.2; do sudo ifconfig lo0 alias $host up; done');
});
