package penstock.savepoints;

import java.util.Objects;

/** POJOs for samples. */
public final class Types {
    private Types() {}

    public enum Size {
        SMALL,
        LARGE
    }

    public static class Animal {
        public String name;
        public Integer legs;
        public Size size;

        public Animal() {}

        Animal(String name, Integer legs, Size size) {
            this.name = name;
            this.legs = legs;
            this.size = size;
        }

        @Override
        public boolean equals(Object other) {
            return other != null && getClass() == other.getClass() && Objects.equals(name, ((Animal) other).name);
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(name);
        }
    }

    /** Registered, so that a tag stands for it. */
    public static class Dog extends Animal {
        public double weight;

        public Dog() {}

        Dog(String name, double weight) {
            super(name, 4, Size.LARGE);
            this.weight = weight;
        }
    }

    /** Not registered: written with its name. */
    public static class Cat extends Animal {
        public boolean asleep;

        public Cat() {}

        Cat(String name, boolean asleep) {
            super(name, 4, null);
            this.asleep = asleep;
        }
    }

    public static class Zoo {
        public Animal[] animals;
        public Animal first;
        public java.util.Map<String, Animal> byName;

        public Zoo() {}

        Zoo(Animal... animals) {
            this.animals = animals;
            this.first = animals.length == 0 ? null : animals[0];
            this.byName = new java.util.HashMap<>();
            for (Animal animal : animals) {
                byName.put(animal.name, animal);
            }
        }
    }
}
