import { spawn } from 'node:child_process'

const blockBytes = 64
const limitMs = 10_000

/**
 * Returns the HMAC-SHA256 of the openssl command, in hex; undefined without the command. Its options take a key only
 * on the command line, which every user of the machine can read. So the two hashes of RFC 2104 are requested one by
 * one.
 */
export async function opensslHmac(key: string, message: Buffer): Promise<string | undefined> {
  const inner = await opensslSha256(Buffer.concat([padded(key, 0x36), message]))
  const outer = inner && (await opensslSha256(Buffer.concat([padded(key, 0x5c), inner])))
  return outer?.toString('hex')
}

function padded(key: string, pad: number): Buffer {
  const bytes = Buffer.from(key, 'utf8')
  if (bytes.length > blockBytes) throw new Error(`a key of more than ${blockBytes} bytes would have to be hashed first`)
  return Buffer.from(Uint8Array.from({ length: blockBytes }, (_, i) => (bytes[i] ?? 0) ^ pad))
}

function opensslSha256(input: Buffer): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn('openssl', ['dgst', '-sha256', '-binary'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: limitMs,
    })
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.once('error', () => resolve(undefined))
    child.once('close', (code) =>
      code === 0 ? resolve(Buffer.concat(parts)) : reject(new Error('openssl dgst failed')),
    )
    child.stdin.once('error', () => {})
    child.stdin.end(input)
  })
}
