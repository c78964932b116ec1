import { join } from 'node:path'

type Folder = { readonly folder: string }

export const clipPath = ({ folder }: Folder, id: number) => join(folder, `${id}.mp4`)
/** The open clip: a transport stream. */
export const spoolPath = ({ folder }: Folder, id: number) => join(folder, `${id}.ts.part`)
/** Returns the path of the file that holds the facts of the clip until the database has it. */
export const sidecarPath = ({ folder }: Folder, id: number) => join(folder, `${id}.json`)
