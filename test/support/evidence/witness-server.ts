/** Witnesses behind real HTTPS, honest and otherwise. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificate } from '../receiver.ts'

type Answer = { status: number; type?: string; body?: string | Buffer; location?: string }
/** Answers a request; `hang` never answers, `drop` cuts the connection. `nth` counts from 1. */
export type Answering = (body: string, nth: number, path: string) => Answer | 'hang' | 'drop'

export type WitnessServer = {
  readonly url: string
  /** File with the authority to trust, PEM. */
  readonly caFile: string
  /** Bodies of everything that was posted. */
  readonly asked: readonly string[]
  /** Changes how the next requests are answered. */
  answer(answering: Answering): void
  /** Resolves when so many requests have come in all. */
  got(count: number): Promise<void>
}

/** Starts a server that lives as long as the test. */
export async function startWitnessServer(
  t: { teardown(work: () => unknown): void },
  answering: Answering,
): Promise<WitnessServer> {
  const { key, cert } = await certificate()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-witness-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, cert)
  const asked: string[] = []
  const waiting: (() => void)[] = []
  let answers = answering
  const server = createServer({ key, cert }, async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts)
    asked.push(body.toString())
    for (const look of waiting) look()
    const said = answers(body.toString(), asked.length, request.url ?? '')
    if (said === 'hang') return
    if (said === 'drop') return void request.socket.destroy()
    const { status, type = 'text/plain; charset=utf-8', body: text = '', location } = said
    response.writeHead(status, { 'Content-Type': type, ...(location && { Location: location }) }).end(text)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/witness`,
    caFile,
    asked,
    answer: (next) => {
      answers = next
    },
    got: (count) =>
      new Promise((resolve) => {
        const look = () => asked.length >= count && resolve()
        waiting.push(look)
        look()
      }),
  }
}
