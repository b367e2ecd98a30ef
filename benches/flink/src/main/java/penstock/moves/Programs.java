package penstock.moves;

import java.util.ArrayList;
import java.util.List;

/** All programs. {@code tests/moves/programs.py} has each of them again. */
final class Programs {
    private Programs() {}

    static List<Program> all() {
        List<Program> programs = new ArrayList<>();
        programs.addAll(States.programs());
        programs.addAll(Values.programs());
        programs.addAll(Keys.programs());
        programs.addAll(Timers.programs());
        programs.addAll(Rolling.programs());
        programs.addAll(Windows.programs());
        programs.addAll(Triggers.programs());
        programs.addAll(Pairs.programs());
        programs.addAll(Calls.programs());
        return programs;
    }
}
