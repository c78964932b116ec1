import { ask, Refused } from '../data/ask.ts'
import { keysOf } from '../data/parsing.ts'
import { devicesTexts as words } from './devices-texts.ts'

export type Role = keyof typeof words.roles
export type Fields = ReadonlyMap<string, string>

export const noFields: Fields = new Map()
const roles = keysOf(words.roles)

/** Sends a form. Problems of a field are shown beside it, and typed text stays. */
export async function sent<T>(path: string, body: object, onFields: (fields: Fields) => void): Promise<T> {
  try {
    const answer = await ask<T>(path, { method: 'POST', body })
    onFields(noFields)
    return answer
  } catch (error) {
    onFields(error instanceof Refused ? error.fields : noFields)
    throw error
  }
}

type Described = { id: string; name: string; 'aria-describedby': string; 'aria-invalid': 'true' | 'false' }

export const RoleChoice = (field: Described) => (
  <select {...field}>
    {roles.map((role) => (
      <option key={role} value={role} selected={role === 'operator'}>
        {words.roles[role]}
      </option>
    ))}
  </select>
)
