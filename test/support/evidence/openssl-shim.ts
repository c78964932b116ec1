/**
 * Takes the place of another version of openssl: says that version, and checks signatures with the crypto of Node, which knows
 * ML-DSA. Everything else goes to the real one.
 *
 *   node openssl-shim.ts VERSION REAL-OPENSSL ARGUMENTS…
 */
import { spawnSync } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [version = '', real = '', command, ...args] = process.argv.slice(2)
const fileOf = (option: string) => readFileSync(args[args.indexOf(option) + 1] ?? '')

if (command === 'version') process.stdout.write(`OpenSSL ${version} 1 Jan 2026\n`)
else if (command === 'pkeyutl') {
  const key = createPublicKey({ key: fileOf('-inkey'), format: 'der', type: 'spki' })
  const isGood = verify(null, fileOf('-in'), key, fileOf('-sigfile'))
  process.exitCode = isGood && args.includes('-verify') && args.includes('-rawin') ? 0 : 1
} else process.exitCode = spawnSync(real, [command ?? '', ...args], { stdio: 'inherit' }).status ?? 1
