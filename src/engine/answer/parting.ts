/** Relations of events that end something: "sell", "break up with". */
export const PARTING: RegExp =
  /^(?:die|pass away|go off|break up with|divorce|sell|leave|quit|stop|cancel|drop|give up|move out|delete|uninstall|ditch|finish|return|donate|unsubscribe)/;
