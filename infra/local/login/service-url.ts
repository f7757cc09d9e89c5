/**
 * Returns the URL in the SDK's variable for a service that runs elsewhere. Throws an Error that names the variable for
 * an invalid URL.
 */
export function serviceUrl(variable: `AWS_ENDPOINT_URL_${string}`): string | undefined {
  const url = process.env[variable];
  if (url === undefined || url === '') return undefined;
  if (!/^https?:\/\//u.test(url) || !URL.canParse(url))
    throw new Error(`${variable}: wanted a URL such as http://127.0.0.1:4566, got ${JSON.stringify(url)}`);
  return url.replace(/\/$/u, '');
}
