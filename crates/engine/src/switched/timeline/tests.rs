use super::*;
use proptest::prelude::*;

proptest! {
    /// The places of characters can be used as if each were looked at in turn.
    #[test]
    fn places_wait_for_the_crossbar(
        runs in prop::collection::vec((1u32..12, 0u32..4, 0i64..30), 1..7),
        crossbar in 1u32..6,
    ) {
        let mut line = Timeline::new(0, 0, 1);
        let (mut places, mut due, mut last) = (Vec::new(), 0, ALWAYS);
        for (count, slower, gap) in runs {
            let run = Run { count, step: crossbar + slower, time: due + gap };
            line.push(&run);
            line.put_off(&run, crossbar);
            for position in 0..count {
                last = run.at(position).max(last + Time::from(crossbar));
                places.push(last);
            }
            due = run.after(1);
        }
        prop_assert_eq!(line.crossed(), last);
        for (number, &place) in (0..).map(|number| START + Wrapping(number)).zip(&places) {
            prop_assert_eq!(line.place(number, crossbar), place);
            let run = line.places_from(number, crossbar);
            prop_assert!(run.count > 0);
            let first = (number - START).0;
            for position in 0..run.count {
                prop_assert_eq!(run.at(position), places[(first + position) as usize]);
            }
        }
    }

    /// The same of characters in groups, among straight runs.
    #[test]
    fn groups_are_found_by_number(
        runs in prop::collection::vec((any::<bool>(), 1u32..6, 0u32..3, 0i64..5, 0u32..60), 1..200),
    ) {
        let (group, pace) = (4, 10);
        let mut line = Timeline::new(3, pace, group);
        let mut pushed: Vec<Time> = vec![ALWAYS; 3];
        let mut keep = 0;
        for (grouped, count, slower, gap, behind) in runs {
            let period = group * pace + 1 + slower;
            let step = if grouped { period } else { pace + slower };
            let time = if pushed.len() == 3 { 0 } else { pushed[pushed.len() - 1] + Time::from(step) + gap / 4 };
            let run = Run { count, step, time };
            if !line.has_room() {
                line.make_room(START + Wrapping(keep));
            }
            if grouped {
                line.push_groups(&run);
                let of_group = |first: u32| (0..group).map(move |k| run.at(first) + Time::from(k * pace));
                pushed.extend((0..count).flat_map(of_group));
            } else {
                line.push(&run);
                pushed.extend((0..count).map(|k| run.at(k)));
            }
            let known = pushed.len() as u32;
            prop_assert_eq!((line.known(), line.last()), (START + Wrapping(known), pushed[pushed.len() - 1]));
            keep = keep.max(known.saturating_sub(behind + 1));
            for number in keep.max(3)..known {
                let found = line.run_from(START + Wrapping(number));
                prop_assert!(found.count > 0 && number + found.count <= known);
                for k in 0..found.count {
                    prop_assert_eq!(found.at(k), pushed[(number + k) as usize]);
                }
                let each = line.each(START + Wrapping(number), group, 0).expect("the interval is a group");
                for k in 0..each.count {
                    prop_assert_eq!(each.at(k), pushed[(number + k * group) as usize]);
                }
            }
        }
    }

    /// Each character that is still stored has the time that was pushed, however many pieces there are.
    #[test]
    fn times_are_found_by_number(
        runs in prop::collection::vec((1u32..5, 0u32..4, 0i64..9, 0u32..40), 1..600),
    ) {
        let mut line = Timeline::new(3, 0, 1);
        let mut pushed: Vec<Time> = vec![ALWAYS; 3];
        let mut keep = 0;
        for (count, step, gap, behind) in runs {
            let time = if pushed.len() == 3 { 0 } else { pushed[pushed.len() - 1] + gap };
            let run = Run { count, step, time };
            if !line.has_room() {
                line.make_room(START + Wrapping(keep));
            }
            line.push(&run);
            pushed.extend((0..count).map(|k| run.at(k)));
            let known = pushed.len() as u32;
            prop_assert_eq!(line.known(), START + Wrapping(known));
            prop_assert_eq!(line.last(), pushed[pushed.len() - 1]);
            keep = keep.max(known.saturating_sub(behind + 1));
            let mut number = keep;
            while number < known {
                let run = line.run_from(START + Wrapping(number));
                for k in 0..run.count {
                    prop_assert_eq!(run.at(k), pushed[(number + k) as usize]);
                }
                number += run.count;
            }
        }
    }
}
