import type { Test } from 'tap'
import { type Answer, people, type TestGateway, type TestGatewayOptions, testGateway } from './gateway.ts'

export type AlertHall = {
  readonly gateway: TestGateway
  /** The cameras send no pictures from now on. */
  lose(...ids: number[]): void
  restore(...ids: number[]): void
  /** Lets time pass as the daemon does: health and messages are looked at every five seconds. */
  pass(ms: number): Promise<void>
  /** As `pass`, without waiting for the attempts. */
  begin(ms: number): Promise<void>
  admin(method: string, path: string, body?: unknown): Promise<Answer>
}

export const camera = (id: number, more: object = {}) => ({
  ...{ id, name: `Gate ${id}`, url: `rtsp://192.0.2.7/${id}` },
  ...more,
})

const words = { what: 'Nothing answers at the address of the camera.', hint: 'Check its power.' }

/** A hall whose cameras can be lost, and whose alerts are reported. */
export async function alertHall(
  t: Test,
  config: Record<string, unknown>,
  options: Omit<TestGatewayOptions, 'config'> = {},
): Promise<AlertHall> {
  const cameras = [camera(1), camera(2), camera(3)]
  const gateway = await testGateway({ ...options, config: { cameras, ...config } })
  t.teardown(() => gateway.end())
  return hallOf(gateway)
}

/** @param lost cameras that have sent nothing since the start */
export function hallOf(gateway: TestGateway, lost: readonly number[] = []): AlertHall {
  const say = (id: number, state: 'live' | 'backing-off') =>
    gateway.cameras.heard({
      ...{ type: 'state', cameraId: id, state, at: gateway.clock.now() },
      ...(state === 'live' ? { words: null, problem: null } : { words, problem: 'unreachable' }),
    })
  const begin = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5000) {
      gateway.clock.advance(5000)
      await gateway.health.look()
      await gateway.alerting.worker.look()
    }
  }
  gateway.cameras.threadStarted()
  for (const { id } of gateway.live.config.cameras) say(id, lost.includes(id) ? 'backing-off' : 'live')
  return {
    gateway,
    lose: (...ids) => {
      for (const id of ids) say(id, 'backing-off')
    },
    restore: (...ids) => {
      for (const id of ids) say(id, 'live')
    },
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 5000) {
        await begin(5000)
        await gateway.alerting.worker.settled()
      }
    },
    begin,
    admin: (method, path, body) => gateway.ask(method, path, { by: people.ada, ...(body !== undefined && { body }) }),
  }
}
