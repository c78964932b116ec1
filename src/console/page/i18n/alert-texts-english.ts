import { countOf } from './words.ts'

/** The meaning of an alert, and its remedy; `gatehouse doctor` and the runbook say the same. */
export type Words = readonly [means: string, todo: string]

const recovered: Words = ['The trouble has ended.', 'Acknowledge it.']

export const english = {
  title: 'Alerts',
  count: (n: number) => (n === 0 ? 'No alert is open.' : `${countOf(n, 'alert is', 'alerts are')} open.`),
  open: 'Open',
  past: 'Acknowledged',
  allWell: 'The gateway knows of no trouble.',
  allWellNext: 'Next: look at the system, or at the open tasks of the floor.',
  toSystem: 'To the system',
  nonePast: 'No alert was acknowledged yet.',
  means: 'Meaning:',
  todo: 'Next:',
  more: 'More in the manual',
  acknowledge: 'Acknowledge',
  acknowledged: 'Acknowledged.',
  all: (n: number) => `Acknowledge all ${n}`,
  allSure: (n: number) => `Yes, acknowledge all ${n}`,
  seenAt: (when: string) => `acknowledged ${when}`,
  unstored: 'The disk takes no writes, so this alert is in memory only. You can acknowledge it once it is stored.',
  other: ['The gateway needs attention.', 'Read the message, then run “gatehouse doctor” at the box.'] as Words,
  kinds: {
    'ffmpeg.bundled': [
      'The cameras are read by the ffmpeg that came with gatehouse. It is old and gets no security updates.',
      'Install ffmpeg from the packages of the system, or set ffmpeg.path; then restart the gateway.',
    ],
    'clips.waiting': [
      'Some clips could not be made yet. The box keeps their video and tries again.',
      'The message has the reason: install ffmpeg, or make room on the disk. After its retention time such a clip counts as lost.',
    ],
    'clips.refused': [
      'The database refuses to record clips. Their files stay on the box.',
      'Keep the files that the message names. Run “gatehouse ledger verify” at the box. The log of gatehouse has the reason. Each start tries again.',
    ],
    'clips.recovered': recovered,
    'storage.slow': [
      'The storage server takes over two seconds for each answer. Sign-ins take that long.',
      'Check the load of that server, and the network to it.',
    ],
    'storage.unreachable': [
      'The storage server or the sign-in provider does not answer. People who signed in lately can go on; uploads wait.',
      'Check the server and the network. Nothing is lost: uploads go on by themselves.',
    ],
    'uploads.late': [
      'Evidence has waited for its upload for over ten minutes. It exists on this box only.',
      'Open the uploads: each shows its last error. Repair the cause; the gateway tries again by itself.',
    ],
    'uploads.parked': [
      'Some files could not be uploaded and are not tried again.',
      'Open the uploads, repair the cause beside each file, and press Retry there.',
    ],
    'uploads.refused': [
      'The storage server refuses the account that uploads. Nothing is copied.',
      'Do what the message says: renew the password, enable the account, or share its folder again.',
    ],
    'upload.no_room': [
      'The storage server has no room for the account, or cannot write. Nothing is removed here meanwhile.',
      'Make room there, raise the quota, or check its disk. The uploads then go on by themselves.',
    ],
    'upload.mismatch': [
      'The copy on the storage server differs from the file that was sent. Somebody may have changed it.',
      'Find out who changed it. Move the copy away and retry the upload. Keep both until then.',
    ],
    'upload.file': [
      'A file of this box cannot be read, or does not match its hash.',
      'Check the disk, and run “gatehouse ledger verify”.',
    ],
    'upload.refused': [
      'The storage server refuses this file, and others for the same reason.',
      'Check the permissions of the account, then retry one upload; the others follow.',
    ],
    'upload.lost': [
      'A copy on the storage server is gone or changed, and this box does not have the file.',
      'Restore the file on the storage server, from its trash or a backup. Then press Retry.',
    ],
    'upload.copy_missing': [
      'A copy is missing on the storage server. The gateway uploads the file again.',
      'Find out who removed it there.',
    ],
    'upload.copy_changed': [
      'A copy on the storage server has changed. The gateway uploads the file again beside it.',
      'Find out who changed it there. Keep both copies until then.',
    ],
    'backup.late': [
      'The newest backup is too old. If the disk breaks now, everything recorded since then is lost.',
      'Check its target: the share has to be mounted, the disk plugged in.',
    ],
    'backup.failed': [
      'The last backup failed.',
      'Make room at its target, and check the rights of the folder. “gatehouse backup FILE” makes one by hand.',
    ],
    'backup.unrestorable': [
      'The rehearsal could not restore a backup. Do not rely on it.',
      'Make one by hand on another disk, and try it with “gatehouse restore”. The disk of the target may be faulty.',
    ],
    'disk.low': [
      'The disk is nearly full. Events are recorded. The gateway removes old clips first.',
      'Close incidents that hold clips, lower retention.clips.maxAgeDays, repair the upload, or fit a larger disk.',
    ],
    'disk.held': [
      'The disk is nearly full. Incidents, disputes or uploads hold every clip that is left.',
      'Resolve old incidents and disputes, repair the upload, or fit a larger disk.',
    ],
    'disk.slow': [
      'The disk is slow: each commit of the database takes over a second, and scanners wait for it.',
      'Find the program that keeps the disk busy (“iotop”). A card or disk that stays slow is probably dying: make a backup and replace it.',
    ],
    'photos.failing': [
      'The disk refuses photos. Events are recorded.',
      'Check the owner and mode of the folder photos/ in the data folder, and the disk. The gateway goes on by itself.',
    ],
    'disk.reserve': [
      'Only the reserve of the ledger is free. Events are recorded; photos, clips and reports are refused.',
      'Make room now, outside the folder of the gateway: old journals, packages, downloads.',
    ],
    'disk.full': [
      'The disk is full. Nothing can be recorded. Handhelds keep their scans and send them later.',
      'Make room now, outside the folder of the gateway. No restart is needed.',
    ],
    'disk.failing': [
      'The disk takes no writes although it may have room. It is probably dying.',
      'Make a backup if it still reads, and replace the disk. “dmesg | grep -i error” shows more.',
    ],
    'disk.gone': [
      'The data folder or its database was moved, removed or unmounted while the gateway runs. Nothing can be recorded.',
      'Put it back or mount it again; no restart is needed. If only gatehouse.db-wal is gone, stop the gateway, copy the data folder, and start it.',
    ],
    'log.unsigned': [
      'The ledger does not match what this box signed, its keys are older than the last rotation, or checkpoints cannot be stored. New events cannot be proved.',
      'Read the alert. If checkpoints cannot be stored, check the folder keys/ and the disk. Else change nothing: copy the data folder away, then run “gatehouse ledger verify”.',
    ],
    'database.failing': [
      'The database cannot be read.',
      'Stop the gateway, check the disk, then run “gatehouse ledger verify”. Keep the files.',
    ],
    'witness.unreachable': [
      'A witness has not answered for over an hour. The log is signed here, and no one outside confirms it for now.',
      'Check the network, and the address in evidence.witnesses. The newest checkpoint goes out by itself.',
    ],
    'timestamps.failing': [
      'The log has had no time stamp for over six hours. Its times rest on the clock of this box.',
      'Check the network, and the addresses in evidence.timestamps.',
    ],
    'witness.refuses': [
      'A witness does not cosign the log. Its answer is in the message.',
      'Compare its key and the name of the log with the config. Ask its operator.',
    ],
    'witness.conflict': [
      'A log that this box witnesses has shown two histories. One of them is false.',
      'Keep the checkpoints of both: they are the evidence. The operator of that log has to explain it.',
    ],
    'witness.ahead': [
      'A witness has seen more of this log than this box has. A restore from an older copy causes this.',
      'If the box was restored, look for a newer backup first. Otherwise somebody changed the ledger: change nothing.',
    ],
    'hub.unreachable': [
      'The head office has received nothing of the log for over an hour. The floor goes on; the log is sent later.',
      'Check the network to the head office.',
    ],
    'hub.refuses': [
      'The head office does not take the log. Its answer is in the message.',
      'Ask there whether the token was revoked; “gatehouse hub join” makes a new one.',
    ],
    'hub.other-keys': [
      'The head office knows the log under other keys. A restore to a time before the key rotation causes this.',
      'If the box was restored: “gatehouse restore --accept-fork”, then “gatehouse hub join” with a new code.',
    ],
    'hub.ahead': [
      'The head office has seen another history of this log. The box was restored, or one of the two was changed.',
      'Restore nothing yet. Keep the data of both sides, and compare them with the head office.',
    ],
    'clock.unsynced': [
      'The clock of the box is not synchronized. Events are recorded, and marked: their time is not certain.',
      'Set a time server that this network can reach. “timedatectl timesync-status” shows the reason.',
    ],
    'box.hot': [
      'The box is too hot. It slows itself down, and its disk and memory age faster.',
      'Look for dust, a stopped fan, a closed cabinet, the sun. Give it air.',
    ],
    'box.throttled': [
      'The processor slows itself down to protect itself. Pictures and answers come late.',
      'Cool the box, or give it fewer cameras; “gatehouse doctor --capacity” measures what it can do.',
    ],
    'box.voltage': [
      'The box gets too little voltage. It may stop at any moment, and damage its data.',
      'Use its own power supply and a short cable; unplug its USB devices.',
    ],
    'update.unreachable': [
      'The box has not reached its update server for over a week. It may lack security fixes.',
      'Check its internet access, and the address after “updates=” in first-boot.txt.',
    ],
    'update.failed': [
      'A newer system image could not be installed. The box keeps its image, and tries again another night.',
      '“journalctl -u gatehouse-update” on the box shows why.',
    ],
    'update.refused': [
      'A newer system image failed on a copy of the ledger. The box keeps its image.',
      '“gatehouse doctor” shows the reasons, and the command that installs the image anyway.',
    ],
    'update.fell_back': [
      'A newer system image did not start or did not stay healthy. The box went back to the previous image; nothing was lost.',
      '“journalctl -u gatehouse-slot” shows why. Publish a corrected image.',
    ],
    'config.refused': [
      'The last change of the config has a mistake. The gateway keeps its settings.',
      'Correct the line that the message names. Run “gatehouse config check”, then reload.',
    ],
    'alerts.unsent': [
      'Messages about alerts do not reach their recipients. The alerts are in this list.',
      'The message has the last error. Correct the channel in the config, reload, then test it below.',
    ],
    'webhook.failing': [
      'Six attempts of one delivery failed: a receiver refuses or does not answer. Other deliveries go on.',
      'Open the webhooks: each delivery shows the answer of the receiver. Its owner has to repair it.',
    ],
    'webhook.disabled': [
      'A receiver failed so long that its webhook was disabled. Nothing is lost; deliveries are held.',
      'When its owner has repaired it, send a test in the webhooks and resume it. A good test every 15 minutes does it too.',
    ],
    'webhook.offline': [
      'The box has no connection to the outside. Deliveries wait, and none counts as failed.',
      'Check the internet line and the router. Everything is sent when the line is back.',
    ],
    'cameras.unwatched': [
      'A camera with a trouble was switched off or taken out of the config. The gateway does not watch it.',
      'If this was intended, do nothing.',
    ],
    'storage.unwatched': [
      'A storage server with a trouble was taken out of the config.',
      'If this was intended, do nothing.',
    ],
    'box.cool': recovered,
    'box.powered': recovered,
    'config.accepted': recovered,
    'alerts.recovered': recovered,
    'ffmpeg.replaced': recovered,
    'update.recovered': recovered,
    'storage.recovered': recovered,
    'uploads.recovered': recovered,
    'backup.recovered': recovered,
    'disk.recovered': recovered,
    'photos.recovered': recovered,
    'log.signed': recovered,
    'database.recovered': recovered,
    'witness.recovered': recovered,
    'witness.conflict.ended': recovered,
    'timestamps.recovered': recovered,
    'hub.recovered': recovered,
    'clock.synced': recovered,
  } satisfies Readonly<Record<string, Words>>,
}
