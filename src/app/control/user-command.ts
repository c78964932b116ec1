import type { Role } from '../../config/index.ts'
import type { Gateway } from '../compose.ts'
import { atTheBox } from './import-command.ts'

/** A command about accounts, as `gatehouse user` gives it. */
export type UserCommand =
  | { readonly act: 'list' }
  | { readonly act: 'add'; readonly username: string; readonly role: Role; readonly groups: readonly string[] }
  | { readonly act: 'disable' | 'enable' | 'reset'; readonly username: string }

export type UserAccount = {
  readonly username: string
  readonly role: Role
  readonly source: 'config' | 'database'
  readonly groups: readonly string[]
  readonly status: string
}
/** `secret`: the new one, for `add` and `reset`. `instance`: address that the accounts belong to. */
export type UserOutcome = {
  readonly accounts: readonly UserAccount[]
  readonly secret?: string
  readonly instance: string
}

export type UserActs = (command: UserCommand, by: string) => Promise<UserOutcome>

/** Returns a function that lists and changes accounts in the name of the person at the box. */
export function userActs(gateway: Pick<Gateway, 'accounts' | 'live' | 'makeId'>): UserActs {
  const { accounts, live } = gateway
  return async (command, by) => {
    const instance = live.config.site.url
    if (command.act === 'list') return { accounts: accounts.list(), instance }
    const origin = atTheBox(gateway, by, 'command')
    if (command.act === 'add') {
      const { act: _, groups, ...wanted } = command
      const { secret, success: __, ...account } = await accounts.add({ ...wanted, groups: [...groups] }, origin)
      return { accounts: [account], secret, instance }
    }
    if (command.act === 'reset') {
      const { secret, success: _, ...account } = await accounts.reset(command.username, origin)
      return { accounts: [account], secret, instance }
    }
    return { accounts: [await accounts[command.act](command.username, origin)], instance }
  }
}
