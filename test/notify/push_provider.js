// push_provider.js - Apple's, Google's and a browser's push service in one, on loopback: what is asked of it goes to standard
// output, a JSON object a line, with what its tokens claim and whether their signatures hold.
//
// usage: node push_provider.js FOLDER
// FOLDER holds cert and key for TLS, the public keys apns.pub, google.pub and vapid.pub, and says.json: answers by path, which
// are [status, headers, body], in their order; the last one is repeated.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http2 = require('http2');
const folder = process.argv[2];
const read = (name) => fs.readFileSync(`${folder}/${name}`);
const keys = { bearer: read('apns.pub'), vapid: read('vapid.pub'), assertion: read('google.pub') };
const plain = {
  '/token': [200, { 'content-type': 'application/json' }, '{"access_token":"ya29.hush-hush-0","expires_in":3600,"token_type":"Bearer"}'],
};

function claims(kind, token) {
  const parts = token.split('.');
  if (parts.length !== 3) return null;
  const algorithm = kind === 'assertion' ? { key: keys[kind] } : { key: keys[kind], dsaEncoding: 'ieee-p1363' };
  const holds = crypto.verify('sha256', Buffer.from(`${parts[0]}.${parts[1]}`), algorithm, Buffer.from(parts[2], 'base64url'));
  const parse = (part) => JSON.parse(Buffer.from(part, 'base64url'));
  return { holds, head: parse(parts[0]), claims: parse(parts[1]) };
}

// The token of a request, wherever its kind carries it.
function tokenOf(path, headers, body) {
  const authorization = headers.authorization || '';
  if (path === '/token') return claims('assertion', new URLSearchParams(body.toString()).get('assertion') || '');
  if (authorization.startsWith('vapid t=')) return claims('vapid', authorization.slice(8).split(',')[0]);
  if (path.startsWith('/3/device/')) return claims('bearer', authorization.slice('bearer '.length));
  return null;
}

function answer(path) {
  const says = JSON.parse(read('says.json'))[path];
  const asked = (answer.asked[path] = (answer.asked[path] || 0) + 1);
  const said = says ? says[Math.min(asked, says.length) - 1] : plain[path];
  if (said) return said;
  if (path.startsWith('/v1/projects/')) return [200, {}, '{"name":"projects/shop-1/messages/0:7"}'];
  return path.startsWith('/3/device/') ? [200, {}, ''] : [201, { location: 'https://push.example/m/7' }, ''];
}
answer.asked = {};

const server = http2.createSecureServer({ cert: read('cert'), key: read('key'), allowHTTP1: true }, (request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !name.startsWith(':')));
    const seen = { version: request.httpVersion, method: request.method, path: request.url, headers, body: body.toString('base64'),
      token: tokenOf(request.url, headers, body), peer: request.socket.remotePort };
    console.log(JSON.stringify(seen));
    const [status, extra, text] = answer(request.url);
    const own = request.url.startsWith('/3/device/') && headers['apns-id'] ? { 'apns-id': headers['apns-id'] } : {};
    response.writeHead(status, { ...own, ...extra });
    response.end(text);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0)); // with whoever started it
