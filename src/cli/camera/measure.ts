import { createInterface } from 'node:readline'
import { Command } from 'commander'
import { type ProbeQuestion, type ProbeReply, probeHere } from '../../app/index.ts'
import { print } from '../../platform/index.ts'
import { untilInterrupted } from '../interrupt.ts'

/** The process of `streamProbe`: measures the streams of each line on stdin until stdin ends. */
export function measureCommand(): Command {
  return new Command('measure')
    .description('measure the streams that a command of root names on stdin')
    .action(() => untilInterrupted(measure))
}

async function measure(interrupted: AbortSignal): Promise<void> {
  const ended = new AbortController()
  const signal = AbortSignal.any([interrupted, ended.signal])
  const underWay: Promise<void>[] = []
  const answer = async (line: string) => {
    const { id, wanted }: ProbeQuestion = JSON.parse(line)
    const probed = await probeHere(wanted, signal)
    print(`${JSON.stringify({ id, probed } satisfies ProbeReply)}\n`)
  }
  const lines = createInterface({ input: process.stdin })
  interrupted.addEventListener('abort', () => lines.close(), { once: true })
  for await (const line of lines) underWay.push(answer(line))
  ended.abort()
  await Promise.all(underWay)
}
