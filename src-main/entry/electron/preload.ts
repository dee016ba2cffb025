import { contextBridge, ipcRenderer } from 'electron'

declare const window: { postMessage(message: string, origin: string, transfer: readonly unknown[]): void }

// A message port cannot pass the context bridge; a message to the page's own window carries it over.
ipcRenderer.on('chainwalk-port', ({ ports }) => {
  window.postMessage('chainwalk-port', '*', ports)
})

contextBridge.exposeInMainWorld('chainwalkDesktop', {
  openLab: () => {
    ipcRenderer.send('chainwalk-open-lab')
  },
})
