// push_services.js - what prove/push-crypto asks of: Apple's, Google's and a browser's push service, each as strict as its protocol,
// on one port of loopback. Tokens are verified by jsonwebtoken, web pushes decrypted by http_ece.
//
// usage: node push_services.js FOLDER MODULES
// FOLDER holds cert and key for TLS and the public keys apns.pub, google.pub and vapid.pub. The first line that it prints holds its
// port and the subscriptions of its browsers; each further one is a push that was taken.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http2 = require('http2');
const [folder, modules] = process.argv.slice(2);
const ece = require(`${modules}/http_ece`);
const jwt = require(`${modules}/jsonwebtoken`);
const read = (name) => fs.readFileSync(`${folder}/${name}`);
const keys = { apns: read('apns.pub'), google: read('google.pub'), vapid: read('vapid.pub') };
const point = crypto.createPublicKey(keys.vapid).export({ type: 'spki', format: 'der' }).subarray(-65).toString('base64url');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
let origin;
let bearer;

class Refusal extends Error {
  constructor(status, word) {
    super(word);
    this.status = status;
  }
}
const want = (holds, status, word) => {
  if (!holds) throw new Refusal(status, word);
};

const browsers = Array.from({ length: 10 }, () => {
  const keyPair = crypto.createECDH('prime256v1');
  return { keyPair, point: keyPair.generateKeys('base64url'), auth: crypto.randomBytes(16).toString('base64url') };
});
const decrypt = (browser, body) => ece.decrypt(body, { version: 'aes128gcm', privateKey: browser.keyPair, authSecret: browser.auth });

// RFC 8030, 8188, 8291, 8292.
function webPush(seen) {
  const number = Number(seen.path.slice('/browser/'.length));
  const { headers, body } = seen;
  want(/^\d+$/.test(headers.ttl), 400, 'TTL');
  want(headers['content-encoding'] === 'aes128gcm', 415, 'Content-Encoding');
  want(/^(very-low|low|normal|high)$/.test(headers.urgency), 400, 'Urgency');
  want(/^[A-Za-z0-9_-]{1,32}$/.test(headers.topic), 400, 'Topic');
  want(body.length <= 4096, 413, 'too large');
  const [, token, key] = /^vapid t=([^, ]+), k=([^, ]+)$/.exec(headers.authorization) || [];
  want(key === point, 403, 'k');
  const claims = jwt.verify(token, keys.vapid, { algorithms: ['ES256'], audience: origin });
  want(claims.exp - Date.now() / 1000 <= 86400 && /^(mailto:|https:)/.test(claims.sub), 403, 'claims');
  const others = browsers.filter((browser, i) => {
    try {
      return i !== number && decrypt(browser, body);
    } catch (error) {
      return false;
    }
  });
  want(others.length === 0, 500, 'another browser can read it');
  return [201, { location: `${origin}/message/${headers.topic}` }, '', JSON.parse(decrypt(browsers[number], body))];
}

function apns(seen) {
  const { headers, body } = seen;
  want(seen.version === '2.0', 505, 'HTTP/2');
  want(headers['apns-topic'] === 'example.shop', 400, 'BadTopic');
  want(headers['apns-push-type'] === 'alert', 400, 'InvalidPushType');
  want(UUID.test(headers['apns-id']), 400, 'BadMessageId');
  want(/^(1|5|10)$/.test(headers['apns-priority']), 400, 'BadPriority');
  want(Buffer.byteLength(headers['apns-collapse-id']) <= 64, 400, 'BadCollapseId');
  want(body.length <= 4096, 413, 'PayloadTooLarge');
  const token = (/^bearer (\S+)$/.exec(headers.authorization) || [])[1];
  want(token, 403, 'MissingProviderToken');
  const { header, payload } = jwt.verify(token, keys.apns, { algorithms: ['ES256'], issuer: 'DEF123GHIJ', maxAge: '1h', complete: true });
  want(header.kid === 'ABC123DEFG' && payload.iat, 403, 'InvalidProviderToken');
  return [200, { 'apns-id': headers['apns-id'] }, '', JSON.parse(body)];
}

// RFC 7523, as Google has it.
function token(seen) {
  const form = new URLSearchParams(seen.body.toString());
  want(form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer', 400, 'unsupported_grant_type');
  const claims = jwt.verify(form.get('assertion'), keys.google, { algorithms: ['RS256'], audience: `${origin}/token`,
    issuer: 'owed@shop-1.example', maxAge: '1h' });
  want(claims.scope === 'https://www.googleapis.com/auth/firebase.messaging' && claims.exp - claims.iat <= 3600, 400, 'invalid_scope');
  bearer = `ya29.${crypto.randomBytes(60).toString('base64url')}`;
  return [200, {}, JSON.stringify({ access_token: bearer, expires_in: 3599, token_type: 'Bearer' }), {}];
}

function fcm(seen) {
  want(seen.headers.authorization === `Bearer ${bearer}`, 401, 'UNAUTHENTICATED');
  want(seen.path === '/v1/projects/shop-1/messages:send', 404, 'NOT_FOUND');
  const { message, ...more } = JSON.parse(seen.body);
  want(Object.keys(more).length === 0 && typeof message.token === 'string', 400, 'INVALID_ARGUMENT');
  const known = new Set(['token', 'notification', 'data', 'android', 'apns']);
  want(Object.keys(message).every((name) => known.has(name)), 400, 'INVALID_ARGUMENT');
  want(Object.values(message.data).every((value) => typeof value === 'string'), 400, 'INVALID_ARGUMENT');
  return [200, {}, JSON.stringify({ name: `projects/shop-1/messages/${message.data.id}` }), message];
}

const services = { browser: webPush, 3: apns, token, v1: fcm };
function answer(seen) {
  want(seen.method === 'POST', 405, 'MethodNotAllowed');
  const service = services[seen.path.split('/')[1]];
  want(service, 404, 'NOT_FOUND');
  return service(seen);
}

const server = http2.createSecureServer({ cert: read('cert'), key: read('key'), allowHTTP1: true }, (request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const seen = { version: request.httpVersion, method: request.method, path: request.url, headers: request.headers, body: Buffer.concat(pieces) };
    try {
      const [status, extra, text, content] = answer(seen);
      console.log(JSON.stringify({ path: seen.path, version: seen.version, content, token: seen.headers.authorization }));
      response.writeHead(status, extra);
      response.end(text);
    } catch (error) {
      response.writeHead(error.status || 403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ reason: error.message, error: { status: error.message } }));
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  origin = `https://localhost:${port}`;
  const subscriptions = browsers.map((browser, i) => ({ endpoint: `${origin}/browser/${i}`, keys: { p256dh: browser.point, auth: browser.auth } }));
  console.log(JSON.stringify({ port, subscriptions }));
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0)); // with whoever started it
