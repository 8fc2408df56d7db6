extension TimelinePage {
    private static let dark = #"""
        color-scheme: dark; --back: #14181f; --panel: #1c222b; --text: #e6eaf0; --faint: #98a2b1; --line: #303844;
          --success: #37a874; --failure: #f06a6a; --cancelled: #e5a53a; --skipped: #8b96a3; --running: #5b9cf0;
          --waiting: #8b96a3; --label: #0d1117; --dependencies: #4d5766; --delay: #7e66a8; --conditions: #a35c87;
          --queue: #94762f; --suspension: #3f7f8c; --exclusion: #7d5a94; --rate: #8c3f55;
          --pause: #a8633f; --critical: #fff; --mark: #7db4ff;
        """#

    /// The style sheet. The colours of outcomes are used for text and behind names, so their contrast is sufficient for
    /// both, in the light and in the dark theme.
    static let style = #"""
        :root { color-scheme: light; --back: #fff; --panel: #f5f6f8; --text: #1c2430; --faint: #5d6776; --line: #dde1e7;
          --success: #1e7f53; --failure: #c93434; --cancelled: #94600a; --skipped: #66707c; --running: #2b6cc4;
          --waiting: #66707c; --label: #fff; --dependencies: #b3bcc8; --delay: #ab8fd6; --conditions: #d582b2;
          --queue: #e3b64f; --suspension: #5fb3c4; --exclusion: #b98ad6; --rate: #c9607e;
          --pause: #e0895a; --critical: #111; --mark: #0b62d6; }
        @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { \#(dark) } }
        :root[data-theme=dark] { \#(dark) }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--back); color: var(--text);
          font: 13px/1.4 system-ui, sans-serif; overflow: hidden; }
        header { display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; padding: 8px 12px;
          background: var(--panel); border-bottom: 1px solid var(--line); }
        h1 { font-size: 15px; margin: 0; max-width: 40ch; overflow: hidden;
          text-overflow: ellipsis; white-space: nowrap; }
        #figures { color: var(--faint); }
        #search { flex: 1 1 150px; min-width: 120px; max-width: 420px; }
        input, select, button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
          border-radius: 5px; padding: 3px 8px; }
        button { cursor: pointer; }
        .buttons { display: flex; gap: 4px; }
        #legend { margin: 0; padding: 4px 12px; display: flex; flex-wrap: wrap; gap: 2px 12px; color: var(--faint);
          font-size: 12px; }
        #legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 4px;
          vertical-align: -1px; }
        #stage { position: relative; flex: 1 1 55%; min-height: 120px; }
        canvas { position: absolute; inset: 0; width: 100%; height: 100%; cursor: grab; touch-action: none; }
        canvas:focus-visible, #rows:focus-visible { outline: 2px solid var(--mark); outline-offset: -2px; }
        #tip { position: absolute; max-width: min(420px, 90%); background: var(--panel); border: 1px solid var(--line);
          border-radius: 6px; padding: 6px 9px; pointer-events: none;
          box-shadow: 0 3px 12px #0004; white-space: pre-wrap;
          overflow-wrap: anywhere; z-index: 2; max-height: 90%; overflow: hidden; }
        #lower { flex: 0 1 38%; min-height: 120px; display: flex; border-top: 1px solid var(--line); }
        #table { flex: 3 1 0; max-width: 1100px; min-width: 0; min-height: 0; display: flex; flex-direction: column; }
        #head, .row { display: grid; grid-template-columns: minmax(90px, 3fr) 1.1fr 1fr 1fr 1fr .7fr;
          align-items: center; }
        #head { border-bottom: 1px solid var(--line); background: var(--panel); padding-right: 12px; }
        #head button { border: 0; background: none; text-align: right; font-weight: 600; overflow: hidden;
          text-overflow: ellipsis; white-space: nowrap; padding: 4px 8px; }
        #head button:first-child { text-align: left; }
        #rows { flex: 1; min-height: 0; overflow-y: auto; position: relative; }
        #space { width: 1px; }
        .row { position: absolute; left: 0; right: 0; height: 22px; cursor: pointer; }
        .row:hover, .row.chosen { background: var(--panel); }
        .row.chosen { box-shadow: inset 3px 0 var(--mark); }
        .row span { padding: 0 8px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right;
          font-variant-numeric: tabular-nums; }
        .row span:first-child { text-align: left; }
        #summary { flex: 2 1 0; min-width: 0; min-height: 0; margin: 0; padding: 8px 12px;
          overflow: auto; white-space: pre-wrap;
          overflow-wrap: anywhere; border-left: 1px solid var(--line); font: 12px/1.5 ui-monospace, monospace; }
        @media (max-width: 700px) { #lower { flex-direction: column; flex-basis: 45%; }
          #table { flex-basis: 60%; } #summary { flex: 2 1 0; border-left: 0; border-top: 1px solid var(--line); }
          #head, .row { grid-template-columns: minmax(60px, 1fr) 74px 66px 68px 46px; font-size: 12px; }
          #head { padding-right: 11px; } #rows { scrollbar-width: thin; }
          #head button, .row span { padding-left: 4px; padding-right: 4px; }
          #head button:nth-child(3), .row span:nth-child(3) { display: none; } #legend { font-size: 11px; } }
        """#
}
