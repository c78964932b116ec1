import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type NotifySocket = {
  /** Every message since the start; each is the list of its lines. `["TIMEOUT"]`: no sign of life in time. */
  readonly messages: readonly string[][]
  /** Resolves with the first message from `from` on that has this line, and with its place. */
  heard(line: string, from?: number): Promise<{ message: string[]; at: number }>
}

/** Plays systemd's end of NOTIFY_SOCKET, with Python's sockets, until the test ends. */
export async function notifySocket(
  t: { teardown(end: () => void): void },
  path: string,
  watchdogSeconds: number,
): Promise<NotifySocket> {
  const program = join(import.meta.dirname, 'notify_socket.py')
  const child = spawn('python3', [program, path, String(watchdogSeconds)], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const messages: string[][] = []
  const looks = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    messages.push(JSON.parse(line))
    for (const look of looks) look()
  })
  const heard = (line: string, from = 0) =>
    new Promise<{ message: string[]; at: number }>((resolve) => {
      const look = () => {
        const at = messages.findIndex((message, place) => place >= from && message.includes(line))
        const message = messages[at]
        if (!message) return
        looks.delete(look)
        resolve({ message, at })
      }
      looks.add(look)
      look()
    })
  await heard('LISTENING')
  return { messages, heard }
}
