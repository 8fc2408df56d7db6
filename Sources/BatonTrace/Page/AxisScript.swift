extension TimelinePage {
    /// The script that draws the time axis and its vertical lines.
    static let axisScript = #"""
        const axisStep = () => {
          const rough = (view.to - view.from) / Math.max(2, width / 90);
          const power = Math.pow(10, Math.floor(Math.log10(rough)));
          return power * [1, 2, 5, 10].find(factor => factor * power >= rough);
        };
        const drawAxis = () => {
          pen.fillStyle = colours.panel;
          pen.fillRect(0, 0, width, axisHeight);
          const step = axisStep();
          pen.font = '11px system-ui, sans-serif';
          pen.textBaseline = 'middle';
          for (let number = Math.ceil(Math.max(0, view.from) / step); number * step <= view.to; number++) {
            const at = Math.round(x(number * step)) + 0.5;
            pen.fillStyle = colours.line;
            pen.fillRect(at, 0, 1, height);
            pen.fillStyle = colours.faint;
            const label = moment(number * step, step);
            if (at + 3 + pen.measureText(label).width < width) pen.fillText(label, at + 3, axisHeight / 2);
          }
        };
        """#
}
