/** The style of the page: large enough to read, light and dark, the list of calls beside the calls where there is room. */
export const DOCUMENT_PAGE_STYLE = `:root { color-scheme: light dark; --edge: #8884; --soft: #8881; --link: #2a5db0; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab4f8; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 1rem; }
a { color: var(--link); }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--edge); border-radius: 6px; overflow-x: auto; padding: 0.75rem; }
article { border-top: 1px solid var(--edge); padding: 0.5rem 0 1rem; }
h3 { margin: 0.5rem 0; overflow-wrap: anywhere; }
h4 { margin: 0.75rem 0 0.25rem; }
dt { font-weight: 600; }
dd { margin: 0 0 0.4rem 1.5rem; }
nav ul { list-style: none; padding: 0; }
nav li { font-size: 0.85rem; overflow-wrap: anywhere; }
nav h2 { font-size: 1rem; margin: 0.75rem 0 0.25rem; }
ul.fields { margin: 0; padding-left: 1.5rem; }
@media (min-width: 60rem) {
  body { display: grid; gap: 0 2.5rem; grid-template-columns: 22rem minmax(0, 1fr); }
  header { grid-column: 1 / -1; }
  nav { align-self: start; max-height: 100vh; overflow-y: auto; position: sticky; top: 0; }
}
`;
